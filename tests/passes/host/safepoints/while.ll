; until memory says so: it looks up in each iteration
define void @k(ptr %launch, ptr %x) {
entry:
  br label %loop
loop:
  %v = load volatile i32, ptr %x
  %on = icmp ne i32 %v, 0
  br i1 %on, label %loop, label %end
end:
  ret void
}
