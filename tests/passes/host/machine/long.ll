; opt=2
define void @k(ptr %x) {
entry:
;times 16001
  store volatile i32 #, ptr %x
  ret void
}
