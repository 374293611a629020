/** Calls back when the client disconnects before the end of the response. Returns a function that unsubscribes. */
export type OnDisconnect = (onDisconnect: () => void) => () => void
