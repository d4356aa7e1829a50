"""Loops over blocks of rows and over tables: what the layers above share to be fast and exact."""
