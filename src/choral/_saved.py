"""Models saved by pickle or joblib: they say which choral wrote them, and one that cannot be read is refused."""

from typing import Any

from choral._version import __version__

RELEASE, STATE = "_choral_version", "_choral_state"  # keys of what is saved


class SavedState:
    """Parent of estimators whose saved state bears the number of its form.

    Pickle restores attributes as they were, whatever they mean by now: a model of another version may load and predict
    something else. So a class whose fitted attributes change their names or meaning counts up `_state_version`. Models
    with another number are refused, with the release that wrote them; releases with the same number read each other's.

    Only fitted models bear the number. A state that holds parameters alone is what `clone` would take, and its hash
    stays the same.
    """

    _state_version = 1

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {**state, RELEASE: __version__, STATE: self._state_version} if _is_fitted(state) else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        attributes = {key: value for key, value in state.items() if key not in (RELEASE, STATE)}
        if _is_fitted(attributes):
            self._check_saved(state.get(RELEASE), state.get(STATE))
        super().__setstate__(attributes)  # type: ignore[misc]  # scikit-learn's

    def _check_saved(self, release: str | None, number: int | None) -> None:
        """Refuse a state of another form."""
        name = type(self).__name__
        if number is None or release is None:
            raise ValueError(
                f"this {name} was saved by a choral too old to say so; choral {__version__} cannot read it. "
                "Please fit it again."
            )
        if number > self._state_version:
            raise ValueError(
                f"this {name} was saved by choral {release}, in a form that choral {__version__} does not know. "
                "Please update choral, or fit it again."
            )
        if number < self._state_version:
            raise ValueError(
                f"this {name} was saved by choral {release}, in a form that choral {__version__} no longer reads. "
                f"Please load it with choral {release}, or fit it again."
            )


def _is_fitted(state: dict[str, Any]) -> bool:
    """Whether there are attributes that ``fit`` wrote: their names end in ``_``."""
    return any(name.endswith("_") and not name.startswith("__") for name in state)
