; opt=3
; Leading zeros of some numbers, or -1, are compared: phis of them have 32 bits.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 4 %out) #0 {
entry:
  %a = load i32, ptr addrspace(1) %x, align 4
  %some = icmp eq i32 %a, %n
  br i1 %some, label %second, label %first

first:                                            ; preds = %entry
  %zeros = call range(i32 0, 33) i32 @llvm.ctlz.i32(i32 %a, i1 true)
  %more = add nuw nsw i32 %zeros, 32
  %even = trunc i32 %a to i1
  %either = select i1 %even, i32 %zeros, i32 %more
  %wide = zext i32 %either to i64
  br label %second

second:                                           ; preds = %first, %entry
  %shared = phi i64 [ %wide, %first ], [ -1, %entry ]
  %ones = call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %n)
  %count = zext i32 %ones to i64
  %is = icmp sgt i64 %shared, %count
  %o = zext i1 %is to i32
  store i32 %o, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.ctlz.i32(i32, i1 immarg) #1

declare i32 @llvm.ctpop.i32(i32) #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
