autocmd BufRead,BufNewFile *.sq setfiletype serq
