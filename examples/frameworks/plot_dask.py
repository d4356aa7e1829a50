"""
More rows than memory, with Dask
================================

Must all predictions be in one place to be judged? No. A curve needs only a
small summary, how many rows have 0, 1, 2, ... wrong labels, and summaries of
blocks add up. So :func:`choral.evaluate` takes dask arrays, and each block is
summarised where it lies. This example needs ``choral[dask,plot]``.
"""

# %%
# A cluster of two workers; threads suffice here. Two million rows with twelve
# labels are made block by block. That is small enough for any laptop; the same
# lines serve more rows than fit into memory. The first model is wrong in
# single labels, the second in whole rows.
import dask.array as da
import numpy as np
from distributed import Client

import choral

client = Client(
    processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None
)
n_rows, n_labels, block = 2_000_000, 12, 200_000
rng = da.random.default_rng(0)
y_true = (
    rng.random((n_rows, n_labels), chunks=(block, n_labels)) < 0.3
).astype(np.uint8)
single = y_true ^ (rng.random(y_true.shape, chunks=y_true.chunks) < 0.03)
whole = y_true ^ (rng.random((n_rows, 1), chunks=(block, 1)) < 0.05)
y_true

# %%
# A block is made, predicted and counted by the same task.
evaluation = choral.evaluate(
    y_true, {"single labels": single, "whole rows": whole}, random_state=0
)
evaluation

# %%
# The bands are there, but too narrow to be seen: there are two million rows.
evaluation.plot()

# %%
# The summary itself is what travels between workers: thirteen numbers.
profile = choral.ErrorProfile.from_predictions(y_true, single)
print(profile, profile.rows_by_errors)

# %%
client.close()

# %%
# Read next: :doc:`/scale` has streams, sparse matrices with millions of
# labels, and how fast it is.
