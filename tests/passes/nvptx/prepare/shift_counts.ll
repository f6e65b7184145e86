; opt=3
; Counts whose low half says whether they are 64 or more, negative ones of 32 bits too, need no clamp;
; others do. Nor does the
; place of a bit that is tested. A number that may be negative is no number without a sign.
define ptx_kernel void @k(ptr addrspace(1) align 8 %p, i32 %n, i64 %any) #0 {
entry:
  %x = load i64, ptr addrspace(1) %p, align 8
  %y = load i32, ptr addrspace(1) %p, align 4
  %k = sext i32 %n to i64
  %k1 = add nsw i64 %k, 1
  %less = icmp ult i64 %k1, 64
  %left = shl i64 %x, %k1
  %a = select i1 %less, i64 %left, i64 0
  %few = call i64 @llvm.umin.i64(i64 %k, i64 63)
  %b = ashr i64 %x, %few
  %low = and i64 %x, 255
  %c = lshr i64 %low, %few
  %d = lshr i64 %x, %few
  %few32 = call i32 @llvm.umin.i32(i32 %n, i32 63)
  %few64 = zext nneg i32 %few32 to i64
  %e = ashr i64 %x, %few64
  %some = call i64 @llvm.umin.i64(i64 %any, i64 63)
  %f = ashr i64 %x, %some
  %other = call i64 @llvm.umin.i64(i64 %k, i64 62)
  %g = ashr i64 %x, %other
  %short = call i32 @llvm.umin.i32(i32 %n, i32 31)
  %h = ashr i32 %y, %short
  %h64 = sext i32 %h to i64
  %s1 = add i64 %a, %b
  %s2 = add i64 %c, %d
  %s3 = add i64 %e, %f
  %s4 = add i64 %g, %h64
  %s5 = add i64 %s1, %s2
  %s6 = add i64 %s3, %s4
  %s = add i64 %s5, %s6
  %bit = shl nuw i64 1, %few64
  %both = and i64 %bit, %x
  %has = icmp ne i64 %both, 0
  %r = select i1 %has, i64 %s, i64 %x
  store i64 %r, ptr addrspace(1) %p, align 8
  ret void
}

declare i64 @llvm.umin.i64(i64, i64)
declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
