"""What the sample sessions say, and how it is written in the formats of vendors and frameworks."""
