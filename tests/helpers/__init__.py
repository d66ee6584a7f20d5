"""What several test modules share: examples, little federations, processes, faulty disks."""
