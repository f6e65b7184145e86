; not long
define void @k(ptr %x) {
entry:
;times 20
  store volatile i32 #, ptr %x
  ret void
}
