import { hashKey } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { isPageAsOf, READS_AS_OF } from './as-of-pages.js'
import { useAddress } from './place.js'

/** A position of the log or a time; '' for the present. */
const asOfInAddress = (): string =>
  isPageAsOf(location.pathname) ? (new URLSearchParams(location.search).get('as_of') ?? '') : ''

/** The key of what was read, as of the state in the address. */
export const keyAsOf = (key: readonly unknown[]): string => hashKey([asOfInAddress(), key])

export const headersAsOf = (path: string): Readonly<Record<string, string>> => {
  const asOf = asOfInAddress()
  return asOf !== '' && READS_AS_OF.has(path) ? { 'Tallytree-As-Of': asOf } : {}
}

/** The address of a page with the state that this page shows, if the page can show it. */
export const withAsOf = (href: string): string => {
  const asOf = asOfInAddress()
  const { pathname, search, hash } = new URL(href, location.origin)
  if (asOf === '' || !isPageAsOf(pathname)) return href
  const parameters = new URLSearchParams(search)
  if (!parameters.has('as_of')) parameters.set('as_of', asOf)
  return `${pathname}?${parameters.toString()}${hash}`
}

/** The state that the address asks for; '' for the present, and on pages that only know it. */
export const useAsOf = (): string => {
  const [{ as_of = '' }] = useAddress()
  return isPageAsOf(location.pathname) ? as_of : ''
}

let reached: { readonly asOf: string; readonly position: string } | undefined
const listeners = new Set<() => void>()

/** Remembers which position an answer as of the state in the address had. */
export const rememberPosition = (asOf: string, position: string): void => {
  if (asOf !== asOfInAddress()) return
  reached = { asOf, position }
  for (const listener of listeners) listener()
}

const listen = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The position of the state in the address, once something was read. */
export const usePositionAsOf = (): string | undefined => {
  const asOf = useAsOf()
  const known = useSyncExternalStore(listen, () => reached)
  return known?.asOf === asOf ? known.position : undefined
}
