// Command init is process 1 of a virtual machine of package vm.
package main

import "aqmlab/e2e/vm/guest"

func main() { guest.Main() }
