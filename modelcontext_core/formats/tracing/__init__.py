"""Spans of tracing tools: their attributes, their dialects, and what they recorded as a call's input and output."""
