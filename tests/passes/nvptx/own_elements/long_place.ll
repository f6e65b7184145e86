; opt=3
@best = internal addrspace(3) global [2048 x i8] poison, align 8
@place = internal addrspace(3) global [2048 x i8] poison, align 8

define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i32 noundef range(i32 0, -2147483648) %n, ptr addrspace(1) align 8 %out) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %step = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t64 = zext nneg i32 %t to i64
  %best = getelementptr inbounds nuw double, ptr addrspace(3) @best, i64 %t64
  %place = getelementptr inbounds nuw i64, ptr addrspace(3) @place, i64 %t64
  store double 0x7FF0000000000000, ptr addrspace(3) %best, align 8
  %n64 = zext nneg i32 %n to i64
  store i64 %n64, ptr addrspace(3) %place, align 8
  %any = icmp samesign ult i32 %t, %n
  br i1 %any, label %loop, label %out.block

loop:                                             ; preds = %next, %entry
  %k = phi i32 [ %t, %entry ], [ %k.next, %next ]
  %k64 = zext nneg i32 %k to i64
  %from = getelementptr inbounds nuw double, ptr addrspace(1) %x, i64 %k64
  %v = load double, ptr addrspace(1) %from, align 8
  %least = load double, ptr addrspace(3) %best, align 8
  %less = fcmp olt double %v, %least
  br i1 %less, label %store, label %next

store:                                            ; preds = %loop
  store double %v, ptr addrspace(3) %best, align 8
  %less64 = sub nsw i64 5, %k64
  store i64 %less64, ptr addrspace(3) %place, align 8
  br label %next

next:                                             ; preds = %store, %loop
  %k.next = add nuw nsw i32 %k, %step
  %more = icmp samesign ult i32 %k.next, %n
  br i1 %more, label %loop, label %out.block, !llvm.loop !0

out.block:                                        ; preds = %next, %entry
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %left = sub nuw nsw i32 1023, %t
  %left64 = zext nneg i32 %left to i64
  %other = getelementptr inbounds nuw double, ptr addrspace(3) @best, i64 %left64
  %read = load double, ptr addrspace(3) %other, align 8
  %to = getelementptr inbounds nuw double, ptr addrspace(1) %out, i64 %t64
  store double %read, ptr addrspace(1) %to, align 8
  ret void
}

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }

!0 = distinct !{!0, !1, !2, !5}
!1 = !{!"llvm.loop.unroll.count", i32 4}
!2 = !{!"llvm.loop.unroll.followup_remainder", !3, !4}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = !{!"pyptx.rest", i32 3}
!5 = !{!"llvm.loop.unroll.followup_unrolled", !3, !6}
!6 = !{!"pyptx.unrolled", i32 4}
