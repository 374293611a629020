import { useSyncExternalStore } from 'react'

const print = window.matchMedia('print')

const subscribe = (listener: () => void) => {
  print.addEventListener('change', listener)
  return () => print.removeEventListener('change', listener)
}

/** Whether the page is drawn for paper, which has no buttons to open what is folded. */
export const useIsPrinting = (): boolean => useSyncExternalStore(subscribe, () => print.matches)
