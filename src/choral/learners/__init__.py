"""Multi-label learners with the scikit-learn contract, one a file."""

from choral.learners.auto_joint import AutoJoint
from choral.learners.base import MultiLabelClassifier
from choral.learners.binary_relevance import BinaryRelevance
from choral.learners.boosted_joint import BoostedJoint
from choral.learners.classifier_chain import ClassifierChain
from choral.learners.clustering_forest import PredictiveClusteringForest
from choral.learners.clustering_tree import PredictiveClusteringTree
from choral.learners.constant import ConstantLabels
from choral.learners.ensemble_of_chains import EnsembleOfChains
from choral.learners.expected_loss import ExpectedLossClassifier
from choral.learners.joint import predict_distribution
from choral.learners.joint_forest import JointForest
from choral.learners.label_powerset import LabelPowerset
from choral.learners.logistic_joint import LogisticJoint
from choral.learners.ml_knn import MLkNN
from choral.learners.probabilistic_chain import ProbabilisticClassifierChain
from choral.learners.pruned_tree import PrunedTreeClassifier
from choral.learners.random_k_labelsets import RandomKLabelsets
from choral.learners.stacked_joint import StackedJoint

__all__ = [
    "AutoJoint",
    "BinaryRelevance",
    "BoostedJoint",
    "ClassifierChain",
    "ConstantLabels",
    "EnsembleOfChains",
    "ExpectedLossClassifier",
    "JointForest",
    "LabelPowerset",
    "LogisticJoint",
    "MLkNN",
    "MultiLabelClassifier",
    "PredictiveClusteringForest",
    "PredictiveClusteringTree",
    "ProbabilisticClassifierChain",
    "PrunedTreeClassifier",
    "RandomKLabelsets",
    "StackedJoint",
    "predict_distribution",
]
