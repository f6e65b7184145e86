; a label behind each 128 instructions
define void @k(ptr %x) {
entry:
  %phi = load i32, ptr %x
;times 600
  store volatile i32 #, ptr %x
  ret void
}
