"""
Fine-tune with Hugging Face
===========================

How does the curve get into a ``Trainer``? Its loss is given as
``compute_loss_func``, and ``compute_metrics`` gets all predictions as arrays,
which is what :func:`choral.loss_curve` takes. The model here is tiny and made
from its configuration, so nothing is downloaded. This example needs
``choral[torch,hugging-face,plot]`` and accelerate.
"""

# %%
# Images of 8 x 8 pixels, seven labels, and a vision transformer of one layer.
# With a pretrained model, only the lines that make it change.
import tempfile

import torch
from transformers import (
    PrinterCallback,
    Trainer,
    TrainingArguments,
    ViTConfig,
    ViTForImageClassification,
)
from transformers.utils.logging import disable_progress_bar

import choral
from choral.nn import ChoquetLoss

disable_progress_bar()
digits = choral.datasets.load_digits_segments()
images = torch.tensor(digits.X / 16, dtype=torch.float32).reshape(-1, 1, 8, 8)
rows = [
    {"pixel_values": image, "labels": labels}
    for image, labels in zip(images, torch.tensor(digits.Y), strict=True)
]
training, validation, test = rows[:900], rows[900:1300], rows[1300:]

config = ViTConfig(
    image_size=8,
    patch_size=4,
    num_channels=1,
    hidden_size=64,
    intermediate_size=64,
    num_hidden_layers=1,
    num_attention_heads=2,
    num_labels=7,
)

# %%
# The loss asks for two labels at once. ``Trainer`` counts single labels, so
# the sum over rows is divided by the number of rows.
row_losses = ChoquetLoss(choral.BinomialMeasure(2), reduction="none")


def compute_loss(outputs, labels, num_items_in_batch=None):
    n_rows = (
        len(labels)
        if num_items_in_batch is None
        else num_items_in_batch / labels.shape[1]
    )
    return row_losses(outputs.logits, labels).sum() / n_rows


def compute_metrics(prediction):
    curve = choral.loss_curve(
        prediction.label_ids, choral.harden(prediction.predictions, threshold=0)
    )
    return {
        "hamming": float(curve.losses[0]),
        "subset": float(curve.losses[-1]),
        "area": curve.area,
    }


# %%
# To keep the model with the best subset 0/1 loss, say
# ``save_strategy="epoch"``, ``load_best_model_at_end=True``,
# ``metric_for_best_model="subset"`` and ``greater_is_better=False``.
with tempfile.TemporaryDirectory() as folder:
    trainer = Trainer(
        ViTForImageClassification(config),
        TrainingArguments(
            folder,
            num_train_epochs=8,
            per_device_train_batch_size=50,
            per_device_eval_batch_size=200,
            learning_rate=0.003,
            eval_strategy="epoch",
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
            dataloader_pin_memory=False,
            use_cpu=True,
            seed=0,
        ),
        train_dataset=training,
        eval_dataset=validation,
        compute_loss_func=compute_loss,
        compute_metrics=compute_metrics,
    )
    trainer.remove_callback(PrinterCallback)  # the table below is shorter
    trainer.train()

for epoch in trainer.state.log_history[:-1]:  # the last entry is about time
    losses = (
        f"{name} {epoch[f'eval_{name}']:.3f}"
        for name in ("hamming", "subset", "area")
    )
    print(f"epoch {epoch['epoch']:.0f}", *losses, sep="  ")

# %%
# The network stays as it is now. A calibrator learns from its validation
# logits how labels depend on each other, and decides anew for each loss.
calibrator = choral.JointCalibrator().fit(
    trainer.predict(validation).predictions, digits.Y[900:1300]
)
logits = trainer.predict(test).predictions
evaluation = choral.evaluate(
    digits.Y[1300:],
    {
        "the network, cut at 0": choral.harden(logits, threshold=0),
        "decided jointly": calibrator.predict_curve(logits),
    },
    random_state=0,
)
evaluation

# %%
evaluation.plot()

# %%
# Read next: :doc:`/pytorch` has the losses and the metric, :doc:`/any_model`
# the calibrator.
