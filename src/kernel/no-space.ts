/** Whether a file cannot grow: the disk, a quota or a limit of the process is full. */
export const isNoSpace = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:ENOSPC|EDQUOT|EFBIG|SQLITE_FULL|SQLITE_IOERR_(?:WRITE|SHMSIZE|SHMOPEN|SHMMAP|TRUNCATE))$/.test(
    String(error.code),
  )
