"""Label sets packed into words of 64 bits: how many labels differ is a count of bits, 64 labels at a time."""

import numpy as np

WORD_BITS = 64


def pack_words(labels: np.ndarray) -> np.ndarray:
    """Each row of 0 and 1 as words; label i is bit i % 64 of word i // 64."""
    n_rows, n_labels = labels.shape
    packed = np.zeros((n_rows, -(-n_labels // WORD_BITS) * 8), dtype=np.uint8)
    packed[:, : -(-n_labels // 8)] = np.packbits(labels, axis=1, bitorder="little")
    return packed.view("<u8")


def row_keys(labels: np.ndarray) -> np.ndarray:
    """One value for each row of 0 and 1, equal where rows are; values can be sorted."""
    words = pack_words(labels)
    return words[:, 0] if words.shape[1] == 1 else words.view(f"S{8 * words.shape[1]}").ravel()


def count_differences(words: np.ndarray, others: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """In how many labels (of those in the mask) rows of words differ; the last axis is that of the words.

    Other axes broadcast: ``words[:, np.newaxis], others`` compares all pairs, one word at a time.
    """
    counts = None
    for word in range(words.shape[-1]):
        differences = words[..., word] ^ others[..., word]
        if mask is not None:
            differences = differences & mask[..., word]
        bits = np.bitwise_count(differences)
        if counts is None:
            counts = bits if words.shape[-1] == 1 else bits.astype(np.uint32)
        else:
            counts += bits
    return counts  # type: ignore[return-value]  # there is at least one word
