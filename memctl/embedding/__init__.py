"""Text in, vectors out. Nothing here knows what the vectors are for."""
