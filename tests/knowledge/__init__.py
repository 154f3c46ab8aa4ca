"""What a seat of each game has seen, told anew in plain Python from the log: the judge of sampled states."""
