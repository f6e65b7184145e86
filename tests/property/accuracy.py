def ulps_of(name, dtype, device):
    return 4
