; opt=3
; What is found out of range lets the loop go on; and a step of three: of neither does the place say how far they are.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext nneg i32 %t to i64
  %at = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %own = load i32, ptr addrspace(1) %at, align 4
  %up = icmp sgt i32 %own, 7
  %d = select i1 %up, i64 1, i64 -1
  br label %far

far:                                              ; preds = %entry, %far.end
  %reach = phi i64 [ 2, %entry ], [ %twice, %far.end ]
  %off = mul i64 %reach, %d
  %place = add i64 %off, %i
  %in = icmp ult i64 %place, 100000
  br i1 %in, label %far.load, label %far.end

far.load:                                         ; preds = %far
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %place
  %v = load i32, ptr addrspace(1) %p, align 4
  br label %far.end

far.end:                                          ; preds = %far, %far.load
  %found = phi i32 [ %v, %far.load ], [ 9, %far ]
  %goes = icmp sgt i32 %found, 3
  %twice = shl i64 %reach, 1
  br i1 %goes, label %far, label %end

end:                                              ; preds = %far.end
  store i64 %reach, ptr addrspace(1) %out, align 8
  ret void
}

define ptx_kernel void @thrice(ptr addrspace(1) align 4 %x, ptr addrspace(1) align 8 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext nneg i32 %t to i64
  %at = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %own = load i32, ptr addrspace(1) %at, align 4
  %up = icmp sgt i32 %own, 7
  %d = select i1 %up, i64 3, i64 -1
  br label %far

far:                                              ; preds = %entry, %far.end
  %reach = phi i64 [ 2, %entry ], [ %twice, %far.end ]
  %off = mul i64 %reach, %d
  %place = add i64 %off, %i
  %in = icmp ult i64 %place, 100000
  br i1 %in, label %far.load, label %far.end

far.load:                                         ; preds = %far
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %place
  %v = load i32, ptr addrspace(1) %p, align 4
  br label %far.end

far.end:                                          ; preds = %far, %far.load
  %found = phi i32 [ %v, %far.load ], [ 0, %far ]
  %goes = icmp sgt i32 %found, 3
  %twice = shl i64 %reach, 1
  br i1 %goes, label %far, label %end

end:                                              ; preds = %far.end
  store i64 %reach, ptr addrspace(1) %out, align 8
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
