"""Where the data sets of the paper come from, and the checksums that tell them from others.

That the authors used exactly these files is inferred: they agree with Table 1 of the paper in all figures.
"""

from dataclasses import dataclass

AUTHORS = "mwever/tpami-automlc/f0b4f838b7c766632077cb46defc5e45e507fd56/original_datasets"
MEKA = "Waikato/meka/f9ffe231e06ebaa75b4a95c5cdeb737419731621/src/main/data"


@dataclass(frozen=True)
class Source:
    """A data set by its file.

    Attributes
    ----------
    file : str
        The name of the file in the data folder, without the suffix of a packer.
    path : str
        Where it is on GitHub: owner, repository, commit and path. The file there may be packed.
    sha256 : str
        The checksum of the file, unpacked.
    labels : int, optional
        Which attributes are labels, where it is not what the file says.
    ignore : tuple of str
        Attributes from which nothing can be learned.
    """

    file: str
    path: str
    sha256: str
    labels: int | None = None
    ignore: tuple[str, ...] = ()


def _by_the_authors(file: str, sha256: str, labels: int | None = None, ignore: tuple[str, ...] = ()) -> Source:
    return Source(file, f"{AUTHORS}/{file}", sha256, labels, ignore)


FLAGS = "b27bb77f8e16ffa9810bed73d3a17b652b7b90b3b64d19b3864b30cf9cb1f022"

SOURCES = {
    "birds": _by_the_authors("birds.arff", "b94741c2e5a57a890add710a39310c7c77057fa54189392803d259c4cbe4026f"),
    "emotions": _by_the_authors("emotions.arff", "08a21cb0b37b422c1026b8025ae092164940afca01b7c4638b322ba16e995fcb"),
    "enron-f": _by_the_authors("enron-f.arff", "052213a79ee99f48db7f988962e1388037dad507cf6531251ef45b76b5e6eba8"),
    "flags": _by_the_authors("flags.arff", FLAGS),
    "flags-7": _by_the_authors("flags.arff", FLAGS, labels=-7),  # the colours alone, as in the published runs
    "genbase": _by_the_authors(
        "genbase.arff",
        "1f207b226f2941e688cdadb2acac881d79a56ab84acf34c8e18248382ee7d4ac",
        ignore=("protein",),  # an identifier: another value in each row
    ),
    "llog-f": _by_the_authors("llog-f.arff", "8f21ba3e988b3a804a56b4959629616dd19951804540421b90a0736d07680814"),
    "medical": _by_the_authors("medical.arff", "f5768448821b4bbb5b10a7550392e11441f1bb78bc350dee0406c837cfe4dac8"),
    "scene": Source(
        "scene.arff",
        f"{MEKA}/Scene.arff.bz2",
        "39282e8ce59ae7b544bd87cd94cdce8f398e94d3dd5cf44b8d4a81492ae894fa",
    ),
    "yeast": _by_the_authors("yeast.arff", "96a7b9ae24cdc6ab04f8f978eeec33ae7171f16878c1c3e1fe8470e80b396bea"),
}

NAMES = tuple(SOURCES)
