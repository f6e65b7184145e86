; over the bits of a mask: no more iterations than it has bits; the second loop goes on at 0
define void @k(ptr %launch, ptr %x, i16 %mask) {
entry:
  br label %lane
lane:
  %left = phi i16 [ %mask, %entry ], [ %next, %lane ]
  %n = call i16 @llvm.cttz.i16(i16 %left, i1 false)
  store volatile i16 %n, ptr %x
  %less = add i16 %left, -1
  %next = and i16 %less, %left
  %more = icmp ne i16 %next, 0
  br i1 %more, label %lane, label %other
other:
  %rest = phi i16 [ %mask, %lane ], [ %lower, %other ]
  store volatile i16 %rest, ptr %x
  %one_less = add i16 %rest, -1
  %lower = and i16 %rest, %one_less
  %on = icmp eq i16 %lower, 0
  br i1 %on, label %other, label %end
end:
  ret void
}

declare i16 @llvm.cttz.i16(i16, i1)
