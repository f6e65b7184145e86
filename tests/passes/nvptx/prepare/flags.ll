; opt=3
define ptx_kernel void @k(i8 %c, ptr addrspace(1) align 1 %out) #0 {
entry:
  switch i8 %c, label %other [
    i8 0, label %zero
    i8 1, label %one
  ]

zero:                                             ; preds = %entry
  br label %meet

one:                                              ; preds = %entry
  br label %meet

other:                                            ; preds = %entry
  br label %meet

meet:                                             ; preds = %other, %one, %zero
  %a = phi i1 [ true, %zero ], [ false, %one ], [ true, %other ]
  %b = phi i1 [ false, %zero ], [ true, %one ], [ true, %other ]
  %n = phi i32 [ 3, %zero ], [ 4, %one ], [ 5, %other ]
  br i1 %a, label %yes, label %end

yes:                                              ; preds = %meet
  br label %end

end:                                              ; preds = %yes, %meet
  %last = phi i1 [ %b, %yes ], [ false, %meet ]
  %both = or i1 %last, %a
  %byte = zext i1 %both to i8
  store i8 %byte, ptr addrspace(1) %out, align 1
  %lone = icmp eq i32 %n, 4
  br i1 %lone, label %more, label %done

more:                                             ; preds = %end
  store i8 7, ptr addrspace(1) %out, align 1
  br label %done

done:                                             ; preds = %more, %end
  ret void
}

attributes #0 = { nounwind }

