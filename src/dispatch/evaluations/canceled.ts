/** The exception of calls whose run was canceled, and the reason of its abort signal. */
export const CANCELED = 'The evaluation run was canceled.'
