; opt=3
; Selections of another kind stay: a divisor that is 1 for other reasons, vectors, the last one of
; another number than a rest.
define i64 @chosen(i64 %x, i64 %y, i1 %c) {
  %d = select i1 %c, i64 1, i64 %y
  %r = srem i64 %x, %d
  ret i64 %r
}

define i64 @large(i64 %x, i64 %y) {
  %c = icmp ugt i64 %y, 100
  %d = select i1 %c, i64 1, i64 %y
  %r = udiv i64 %x, %d
  ret i64 %r
}

define i64 @extended(i64 %x, i32 %n) {
  %c = icmp eq i32 %n, -1
  %y = zext i32 %n to i64
  %d = select i1 %c, i64 1, i64 %y
  %r = udiv i64 %x, %d
  ret i64 %r
}

define <2 x i64> @vectors(<2 x i64> %x, <2 x i64> %y) {
  %c = icmp eq <2 x i64> %y, zeroinitializer
  %d = select <2 x i1> %c, <2 x i64> splat (i64 1), <2 x i64> %y
  %r = urem <2 x i64> %x, %d
  ret <2 x i64> %r
}

define i64 @no_rest(i64 %x, i64 %y) {
  %some = icmp ne i64 %x, 0
  %negative = icmp slt i64 %y, 0
  %both = and i1 %some, %negative
  %more = select i1 %both, i64 %y, i64 0
  %sum = add i64 %x, %more
  ret i64 %sum
}
