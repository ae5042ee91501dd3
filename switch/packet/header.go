package packet

func setCE([]byte) {}
