package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Types of Thrift's compact protocol, in which a footer is written.
const (
	typeTrue   = 1 // of a field; of an element: a byte
	typeFalse  = 2
	typeByte   = 3
	typeInt16  = 4
	typeInt64  = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeMap    = 11
	typeStruct = 12
)

// maxDepth is more than any footer has.
const maxDepth = 16

var errShort = errors.New("it is cut short")

// skip returns what follows a value of a type in b. A list or a text that says that it has
// more than follows is an error: the library would make room for that.
func skip(kind byte, b []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("more than %d values in each other", maxDepth)
	}
	switch {
	case kind == typeTrue || kind == typeFalse:
		return b, nil
	case kind == typeByte:
		return take(b, 1)
	case kind >= typeInt16 && kind <= typeInt64:
		_, b, err := number(b)
		return b, err
	case kind == typeDouble:
		return take(b, 8)
	case kind == typeBinary:
		n, b, err := number(b)
		if err != nil {
			return nil, err
		}
		return take(b, n)
	case kind == typeList || kind == typeSet:
		return skipList(b, depth)
	case kind == typeMap:
		return skipMap(b, depth)
	case kind == typeStruct:
		return skipStruct(b, depth)
	}
	return nil, fmt.Errorf("type %d is unknown", kind)
}

func skipStruct(b []byte, depth int) ([]byte, error) {
	for len(b) > 0 {
		head := b[0]
		b = b[1:]
		if head == 0 {
			return b, nil
		}
		var err error
		if head>>4 == 0 { // the number of the field follows, where it is not near the last
			if _, b, err = number(b); err != nil {
				return nil, err
			}
		}
		if b, err = skip(head&0xf, b, depth+1); err != nil {
			return nil, err
		}
	}
	return nil, errShort
}

func skipList(b []byte, depth int) ([]byte, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	head := b[0]
	b = b[1:]
	n := uint64(head >> 4)
	if n == 0xf {
		var err error
		if n, b, err = number(b); err != nil {
			return nil, err
		}
	}
	return skipElements(b, n, depth, head&0xf)
}

func skipMap(b []byte, depth int) ([]byte, error) {
	n, b, err := number(b)
	if err != nil || n == 0 {
		return b, err
	}
	if len(b) == 0 {
		return nil, errShort
	}
	return skipElements(b[1:], n, depth, b[0]>>4, b[0]&0xf)
}

// skipElements skips n groups of one element of each kind. Each element takes a byte at least.
func skipElements(b []byte, n uint64, depth int, kinds ...byte) (_ []byte, err error) {
	if n > uint64(len(b)) {
		return nil, fmt.Errorf("a list of %d is in %d bytes", n, len(b))
	}
	for range n {
		for _, kind := range kinds {
			if kind == typeTrue || kind == typeFalse {
				kind = typeByte
			}
			if b, err = skip(kind, b, depth+1); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// number reads a varint.
func number(b []byte) (n uint64, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil, errShort
	}
	return n, b[size:], nil
}

func take(b []byte, n uint64) ([]byte, error) {
	if n > uint64(len(b)) {
		return nil, errShort
	}
	return b[n:], nil
}
