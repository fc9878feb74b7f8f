print("moonloop")
