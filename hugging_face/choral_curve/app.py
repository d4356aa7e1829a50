"""The page of the Space: a widget to try the metric."""

import evaluate
from evaluate.utils import launch_gradio_widget

launch_gradio_widget(evaluate.load("choral_curve.py"))
