"""What a source is made of, before any format is known: archives, encodings, JSON, lines, events."""
