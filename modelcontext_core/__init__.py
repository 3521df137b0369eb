"""Codec between an application's durable identifiers and the short handles that a model sees."""
