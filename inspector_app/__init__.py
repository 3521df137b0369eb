"""The model-context inspector: a local web tool and a command line over `modelcontext_core`."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
