"""Where the data sets of the paper come from, and their checksums.

We infer that the authors used exactly these files: they agree with Table 1 of the paper in all figures.
"""

from dataclasses import dataclass

AUTHORS = "mwever/tpami-automlc/f0b4f838b7c766632077cb46defc5e45e507fd56/original_datasets"
MEKA = "Waikato/meka/f9ffe231e06ebaa75b4a95c5cdeb737419731621/src/main/data"


@dataclass(frozen=True)
class Source:
    """The file of a data set.

    Attributes
    ----------
    file : str
        The name of the file in the data folder, without ``.gz``, ``.bz2`` or ``.xz``.
    path : str
        Where it is on GitHub: owner, repository, commit and path. The file there may be packed.
    sha256 : str
        The checksum of the file, unpacked.
    labels : int, optional
        Which attributes are labels, counted as in `read_arff`; by default those that the file names.
    ignore : tuple of str
        Attributes to leave out, such as identifiers.
    """

    file: str
    path: str
    sha256: str
    labels: int | None = None
    ignore: tuple[str, ...] = ()


def _from_authors(file: str, sha256: str, labels: int | None = None, ignore: tuple[str, ...] = ()) -> Source:
    return Source(file, f"{AUTHORS}/{file}", sha256, labels, ignore)


FLAGS_SHA256 = "b27bb77f8e16ffa9810bed73d3a17b652b7b90b3b64d19b3864b30cf9cb1f022"

SOURCES = {
    "birds": _from_authors("birds.arff", "b94741c2e5a57a890add710a39310c7c77057fa54189392803d259c4cbe4026f"),
    "emotions": _from_authors("emotions.arff", "08a21cb0b37b422c1026b8025ae092164940afca01b7c4638b322ba16e995fcb"),
    "enron-f": _from_authors("enron-f.arff", "052213a79ee99f48db7f988962e1388037dad507cf6531251ef45b76b5e6eba8"),
    "flags": _from_authors("flags.arff", FLAGS_SHA256),
    "flags-7": _from_authors("flags.arff", FLAGS_SHA256, labels=-7),  # the colours alone, as in the published runs
    "genbase": _from_authors(
        "genbase.arff",
        "1f207b226f2941e688cdadb2acac881d79a56ab84acf34c8e18248382ee7d4ac",
        ignore=("protein",),  # an identifier: another value in each row
    ),
    "llog-f": _from_authors("llog-f.arff", "8f21ba3e988b3a804a56b4959629616dd19951804540421b90a0736d07680814"),
    "medical": _from_authors("medical.arff", "f5768448821b4bbb5b10a7550392e11441f1bb78bc350dee0406c837cfe4dac8"),
    "scene": Source(
        "scene.arff",
        f"{MEKA}/Scene.arff.bz2",
        "39282e8ce59ae7b544bd87cd94cdce8f398e94d3dd5cf44b8d4a81492ae894fa",
    ),
    "yeast": _from_authors("yeast.arff", "96a7b9ae24cdc6ab04f8f978eeec33ae7171f16878c1c3e1fe8470e80b396bea"),
}

NAMES = tuple(SOURCES)
