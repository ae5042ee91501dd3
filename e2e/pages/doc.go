// Package pages keeps the documentation true. Its tests run the commands of the pages, and
// compare what these print with what the pages show. With -update they write the pages
// anew.
//
// A comment before a block, a table or an image says where that comes from:
//
//	<!-- output -->                                  what the shell block above printed
//	<!-- output of COMMAND -->                       what that command prints
//	<!-- output from "load 0.9:" to "coexistence" --> the part that begins, and ends before, a line like that
//	<!-- output first 5 -->                          so many lines of it, and three dots
//	<!-- figure threshold/curve.svg -->              the image is that file of the block above
//	<!-- cells ... -->                               a table of values of compare --json, see cells
//
// Without "to" a part ends at an empty line. The word "long" at the end of a comment leaves
// it to -long: it takes minutes.
package pages
