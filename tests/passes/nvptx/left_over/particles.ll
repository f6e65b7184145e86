; opt=3
; What is left over of a loop that computes much, in another loop: what is not loaded is 0, in front.
define ptx_kernel void @k(ptr addrspace(1) align 4 %starts, ptr addrspace(1) align 4 %points, i32 %cells, float %h, ptr addrspace(1) align 4 %out) #0 {
entry:
  %some = icmp sgt i32 %cells, 0
  br i1 %some, label %cell, label %end

cell:                                             ; preds = %entry, %next
  %c = phi i32 [ %c1, %next ], [ 0, %entry ]
  %total = phi float [ %sum, %next ], [ 0.000000e+00, %entry ]
  %c1 = add nuw nsw i32 %c, 1
  %wide = zext nneg i32 %c to i64
  %at = getelementptr inbounds nuw i32, ptr addrspace(1) %starts, i64 %wide
  %first = load i32, ptr addrspace(1) %at, align 4
  %at1 = getelementptr i8, ptr addrspace(1) %at, i64 4
  %last = load i32, ptr addrspace(1) %at1, align 4
  %any = icmp slt i32 %first, %last
  br i1 %any, label %particle.preheader, label %next

particle.preheader:                               ; preds = %cell
  %0 = sub i32 %last, %first
  %xtraiter = and i32 %0, 3
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0
  br i1 %lcmp.mod.not, label %particle.prol.loopexit, label %particle.prol

particle.prol:                                    ; preds = %particle.preheader, %particle.prol
  %j.prol = phi i32 [ %j1.prol, %particle.prol ], [ %first, %particle.preheader ]
  %t.prol = phi float [ %t1.prol, %particle.prol ], [ %total, %particle.preheader ]
  %prol.iter = phi i32 [ %prol.iter.next, %particle.prol ], [ 0, %particle.preheader ]
  %j1.prol = add nsw i32 %j.prol, 1
  %row.prol = mul i32 %j.prol, 3
  %place.prol = sext i32 %row.prol to i64
  %px.prol = getelementptr inbounds float, ptr addrspace(1) %points, i64 %place.prol
  %x.prol = load float, ptr addrspace(1) %px.prol, align 4
  %py.prol = getelementptr i8, ptr addrspace(1) %px.prol, i64 4
  %y.prol = load float, ptr addrspace(1) %py.prol, align 4
  %pz.prol = getelementptr i8, ptr addrspace(1) %px.prol, i64 8
  %z.prol = load float, ptr addrspace(1) %pz.prol, align 4
  %xx.prol = fmul contract float %x.prol, %x.prol
  %yy.prol = fmul contract float %y.prol, %y.prol
  %zz.prol = fmul contract float %z.prol, %z.prol
  %xy.prol = fadd contract float %xx.prol, %yy.prol
  %r.prol = fadd contract float %xy.prol, %zz.prol
  %w.prol = fsub contract float %h, %r.prol
  %w2.prol = fmul contract float %w.prol, %w.prol
  %w3.prol = fmul contract float %w2.prol, %w.prol
  %near.prol = fcmp olt float %r.prol, %h
  %more.prol = fadd contract float %t.prol, %w3.prol
  %t1.prol = select i1 %near.prol, float %more.prol, float %t.prol
  %prol.iter.next = add i32 %prol.iter, 1
  %prol.iter.cmp.not = icmp eq i32 %prol.iter.next, %xtraiter
  br i1 %prol.iter.cmp.not, label %particle.prol.loopexit, label %particle.prol, !llvm.loop !0

particle.prol.loopexit:                           ; preds = %particle.prol, %particle.preheader
  %t1.lcssa.unr = phi float [ poison, %particle.preheader ], [ %t1.prol, %particle.prol ]
  %j.unr = phi i32 [ %first, %particle.preheader ], [ %j1.prol, %particle.prol ]
  %t.unr = phi float [ %total, %particle.preheader ], [ %t1.prol, %particle.prol ]
  %1 = sub i32 %first, %last
  %2 = icmp ugt i32 %1, -4
  br i1 %2, label %next, label %particle

particle:                                         ; preds = %particle.prol.loopexit, %particle
  %j = phi i32 [ %j1.3, %particle ], [ %j.unr, %particle.prol.loopexit ]
  %t = phi float [ %t1.3, %particle ], [ %t.unr, %particle.prol.loopexit ]
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
  %3 = mul i32 %j, 3
  %row.1 = add i32 %3, 3
  %place.1 = sext i32 %row.1 to i64
  %px.1 = getelementptr inbounds float, ptr addrspace(1) %points, i64 %place.1
  %x.1 = load float, ptr addrspace(1) %px.1, align 4
  %py.1 = getelementptr i8, ptr addrspace(1) %px.1, i64 4
  %y.1 = load float, ptr addrspace(1) %py.1, align 4
  %pz.1 = getelementptr i8, ptr addrspace(1) %px.1, i64 8
  %z.1 = load float, ptr addrspace(1) %pz.1, align 4
  %xx.1 = fmul contract float %x.1, %x.1
  %yy.1 = fmul contract float %y.1, %y.1
  %zz.1 = fmul contract float %z.1, %z.1
  %xy.1 = fadd contract float %xx.1, %yy.1
  %r.1 = fadd contract float %xy.1, %zz.1
  %w.1 = fsub contract float %h, %r.1
  %w2.1 = fmul contract float %w.1, %w.1
  %w3.1 = fmul contract float %w2.1, %w.1
  %near.1 = fcmp olt float %r.1, %h
  %more.1 = fadd contract float %t1, %w3.1
  %t1.1 = select i1 %near.1, float %more.1, float %t1
  %4 = mul i32 %j, 3
  %row.2 = add i32 %4, 6
  %place.2 = sext i32 %row.2 to i64
  %px.2 = getelementptr inbounds float, ptr addrspace(1) %points, i64 %place.2
  %x.2 = load float, ptr addrspace(1) %px.2, align 4
  %py.2 = getelementptr i8, ptr addrspace(1) %px.2, i64 4
  %y.2 = load float, ptr addrspace(1) %py.2, align 4
  %pz.2 = getelementptr i8, ptr addrspace(1) %px.2, i64 8
  %z.2 = load float, ptr addrspace(1) %pz.2, align 4
  %xx.2 = fmul contract float %x.2, %x.2
  %yy.2 = fmul contract float %y.2, %y.2
  %zz.2 = fmul contract float %z.2, %z.2
  %xy.2 = fadd contract float %xx.2, %yy.2
  %r.2 = fadd contract float %xy.2, %zz.2
  %w.2 = fsub contract float %h, %r.2
  %w2.2 = fmul contract float %w.2, %w.2
  %w3.2 = fmul contract float %w2.2, %w.2
  %near.2 = fcmp olt float %r.2, %h
  %more.2 = fadd contract float %t1.1, %w3.2
  %t1.2 = select i1 %near.2, float %more.2, float %t1.1
  %j1.3 = add nsw i32 %j, 4
  %5 = mul i32 %j, 3
  %row.3 = add i32 %5, 9
  %place.3 = sext i32 %row.3 to i64
  %px.3 = getelementptr inbounds float, ptr addrspace(1) %points, i64 %place.3
  %x.3 = load float, ptr addrspace(1) %px.3, align 4
  %py.3 = getelementptr i8, ptr addrspace(1) %px.3, i64 4
  %y.3 = load float, ptr addrspace(1) %py.3, align 4
  %pz.3 = getelementptr i8, ptr addrspace(1) %px.3, i64 8
  %z.3 = load float, ptr addrspace(1) %pz.3, align 4
  %xx.3 = fmul contract float %x.3, %x.3
  %yy.3 = fmul contract float %y.3, %y.3
  %zz.3 = fmul contract float %z.3, %z.3
  %xy.3 = fadd contract float %xx.3, %yy.3
  %r.3 = fadd contract float %xy.3, %zz.3
  %w.3 = fsub contract float %h, %r.3
  %w2.3 = fmul contract float %w.3, %w.3
  %w3.3 = fmul contract float %w2.3, %w.3
  %near.3 = fcmp olt float %r.3, %h
  %more.3 = fadd contract float %t1.2, %w3.3
  %t1.3 = select i1 %near.3, float %more.3, float %t1.2
  %done.3 = icmp eq i32 %j1.3, %last
  br i1 %done.3, label %next, label %particle, !llvm.loop !3

next:                                             ; preds = %particle.prol.loopexit, %particle, %cell
  %sum = phi float [ %total, %cell ], [ %t1.lcssa.unr, %particle.prol.loopexit ], [ %t1.3, %particle ]
  %stop = icmp eq i32 %c1, %cells
  br i1 %stop, label %end, label %cell

end:                                              ; preds = %next, %entry
  %result = phi float [ 0.000000e+00, %entry ], [ %sum, %next ]
  store float %result, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"pyptx.rest", i32 3}
!3 = distinct !{!3, !1, !4}
!4 = !{!"pyptx.unrolled", i32 4}
