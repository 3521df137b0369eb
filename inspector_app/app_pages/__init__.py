"""The pages. Thin: read state, call `data`, call a view, draw, write state."""
