; opt=3
; A row whose number was a float, wrapped by itself: its number has 32 bits in the block, too.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 4 %out, float %p, i32 noundef range(i32 0, -2147483648) %size, i32 noundef range(i32 0, -2147483648) %row) {
entry:
  %n = zext nneg i32 %size to i64
  %whole = call i64 @llvm.nvvm.f2ll.rz(float %p)
  %nan = fcmp uno float %p, 0.000000e+00
  %i = select i1 %nan, i64 0, i64 %whole
  %next = add i64 %i, 1
  %inside = icmp slt i64 %next, %n
  br i1 %inside, label %read, label %end

read:                                             ; preds = %entry
  %back = sitofp i64 %i to float
  %share = fsub float %p, %back
  %below = icmp slt i64 %i, 0
  %by = select i1 %below, i64 %n, i64 0
  %at = add i64 %by, %i
  %low = trunc i64 %at to i32
  %place = mul nsw i32 %row, %low
  %wide = sext i32 %place to i64
  %address = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %one = load float, ptr addrspace(1) %address, align 4
  %under = icmp slt i64 %next, 0
  %by1 = select i1 %under, i64 %n, i64 0
  %at1 = add nsw i64 %by1, %next
  %low1 = trunc i64 %at1 to i32
  %place1 = add nsw i32 %row, %low1
  %wide1 = sext i32 %place1 to i64
  %address1 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide1
  %other = load float, ptr addrspace(1) %address1, align 4
  %part = fmul float %share, %other
  %sum = fadd float %one, %part
  store float %sum, ptr addrspace(1) %out, align 4
  br label %end

end:                                              ; preds = %read, %entry
  ret void
}

declare i64 @llvm.nvvm.f2ll.rz(float)
