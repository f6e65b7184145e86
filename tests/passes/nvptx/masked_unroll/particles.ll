; opt=3
; A loop over cells, and one over the three coordinates of a cell's particles, with which much is
; computed: LLVM unrolls it, and what is left over is marked.
define ptx_kernel void @k(ptr addrspace(1) align 4 %starts, ptr addrspace(1) align 4 %points, i32 %cells, float %h, ptr addrspace(1) align 4 %out) #0 {
entry:
  %some = icmp sgt i32 %cells, 0
  br i1 %some, label %cell, label %end

cell:                                             ; preds = %entry, %next
  %c = phi i32 [ %c1, %next ], [ 0, %entry ]
  %total = phi float [ %sum, %next ], [ 0.000000e+00, %entry ]
  %c1 = add nuw nsw i32 %c, 1
  %wide = sext i32 %c to i64
  %at = getelementptr inbounds i32, ptr addrspace(1) %starts, i64 %wide
  %first = load i32, ptr addrspace(1) %at, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at, i64 4
  %last = load i32, ptr addrspace(1) %at1, align 4
  %any = icmp slt i32 %first, %last
  br i1 %any, label %particle, label %next

particle:                                         ; preds = %cell, %particle
  %j = phi i32 [ %j1, %particle ], [ %first, %cell ]
  %t = phi float [ %t1, %particle ], [ %total, %cell ]
  %j1 = add nsw i32 %j, 1
  %row = mul i32 %j, 3
  %place = sext i32 %row to i64
  %px = getelementptr inbounds float, ptr addrspace(1) %points, i64 %place
  %x = load float, ptr addrspace(1) %px, align 4
  %py = getelementptr i8, ptr addrspace(1) %px, i64 4
  %y = load float, ptr addrspace(1) %py, align 4
  %pz = getelementptr i8, ptr addrspace(1) %px, i64 8
  %z = load float, ptr addrspace(1) %pz, align 4
  %xx = fmul contract float %x, %x
  %yy = fmul contract float %y, %y
  %zz = fmul contract float %z, %z
  %xy = fadd contract float %xx, %yy
  %r = fadd contract float %xy, %zz
  %w = fsub contract float %h, %r
  %w2 = fmul contract float %w, %w
  %w3 = fmul contract float %w2, %w
  %near = fcmp olt float %r, %h
  %more = fadd contract float %t, %w3
  %t1 = select i1 %near, float %more, float %t
  %done = icmp eq i32 %j1, %last
  br i1 %done, label %next, label %particle, !llvm.loop !0

next:                                             ; preds = %cell, %particle
  %sum = phi float [ %total, %cell ], [ %t1, %particle ]
  %stop = icmp eq i32 %c1, %cells
  br i1 %stop, label %end, label %cell

end:                                              ; preds = %entry, %next
  %result = phi float [ 0.000000e+00, %entry ], [ %sum, %next ]
  store float %result, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.masked", i32 8}
