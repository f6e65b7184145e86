; opt=3
; Floor division and remainder by what is known at run time: the divisor 1 instead of 0 or of -1,
; and the corrections of signs, are behind branches; what only they need, too.
define i64 @rest(i64 %x, i64 %y) {
  %zero = icmp eq i64 %y, 0
  %minus = icmp eq i64 %y, -1
  %lowest = icmp eq i64 %x, -9223372036854775808
  %overflow = and i1 %lowest, %minus
  %bad = or i1 %zero, %overflow
  %safe = select i1 %bad, i64 1, i64 %y
  %r = srem i64 %x, %safe
  %differ = xor i64 %r, %safe
  %signs = icmp slt i64 %differ, 0
  %some = icmp ne i64 %r, 0
  %adjust = and i1 %some, %signs
  %more = select i1 %adjust, i64 %safe, i64 0
  %sum = add i64 %r, %more
  ret i64 %sum
}

define i64 @quotient(i64 %x, i64 %y) {
  %q = sdiv i64 %x, %y
  %r = srem i64 %x, %y
  %differ = xor i64 %r, %y
  %signs = icmp slt i64 %differ, 0
  %some = icmp ne i64 %r, 0
  %adjust = and i1 %some, %signs
  %one = zext i1 %adjust to i64
  %floor = sub i64 %q, %one
  ret i64 %floor
}

define i32 @unsigned(i32 %x, i32 %y) {
  %zero = icmp eq i32 %y, 0
  %safe = select i1 %zero, i32 1, i32 %y
  %r = urem i32 %x, %safe
  ret i32 %r
}
