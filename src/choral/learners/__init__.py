"""Multi-label learners with the scikit-learn contract, one a file."""

from choral.learners.base import MultiLabelClassifier
from choral.learners.binary_relevance import BinaryRelevance
from choral.learners.classifier_chain import ClassifierChain
from choral.learners.clustering_forest import PredictiveClusteringForest
from choral.learners.clustering_tree import PredictiveClusteringTree
from choral.learners.constant import ConstantLabels
from choral.learners.label_powerset import LabelPowerset
from choral.learners.probabilistic_chain import ProbabilisticClassifierChain
from choral.learners.pruned_tree import PrunedTreeClassifier
from choral.learners.random_k_labelsets import RandomKLabelsets

__all__ = [
    "BinaryRelevance",
    "ClassifierChain",
    "ConstantLabels",
    "LabelPowerset",
    "MultiLabelClassifier",
    "PredictiveClusteringForest",
    "PredictiveClusteringTree",
    "ProbabilisticClassifierChain",
    "PrunedTreeClassifier",
    "RandomKLabelsets",
]
