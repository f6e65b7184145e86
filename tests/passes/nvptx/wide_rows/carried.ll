; opt=3
; Rows at a place that the loop moves on by what it has read, as in a merge: they stay.
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @k(ptr addrspace(1) align 1 %rows, i32 %width, ptr addrspace(1) align 4 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = shl nuw nsw i32 %t, 5
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %at = phi i32 [ 0, %entry ], [ %to, %loop ]
  %row = add nuw nsw i32 %at, %first
  %n = mul nsw i32 %row, %width
  %i = sext i32 %n to i64
  %p = getelementptr i8, ptr addrspace(1) %rows, i64 %i
  %a = load i8, ptr addrspace(1) %p, align 1
  %p1 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 1
  %b = load i8, ptr addrspace(1) %p1, align 1
  %p2 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 2
  %c = load i8, ptr addrspace(1) %p2, align 1
  %p3 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 3
  %d = load i8, ptr addrspace(1) %p3, align 1
  %wa = sext i8 %a to i32
  %wb = sext i8 %b to i32
  %wc = sext i8 %c to i32
  %wd = sext i8 %d to i32
  %ab = mul i32 %wa, %wb
  %cd = mul i32 %wc, %wd
  %both = sub i32 %ab, %cd
  %more = add i32 %sum, %both
  %less = icmp slt i32 %both, 0
  %by = zext i1 %less to i32
  %to = add nuw nsw i32 %at, %by
  %next = add nuw nsw i32 %k, 1
  %ends = icmp eq i32 %next, 32
  br i1 %ends, label %done, label %loop

done:
  %o = zext nneg i32 %t to i64
  %po = getelementptr i32, ptr addrspace(1) %out, i64 %o
  store i32 %more, ptr addrspace(1) %po, align 4
  ret void
}

attributes #0 = { nounwind }
