import { LOADS } from './loads.js'

/** Runs LOAD. Its parent hears of each id that is done, if there is a channel to it. */
const { ADDRESS, KEY, LOAD } = process.env as Record<string, string>
LOADS[LOAD!]!({ address: ADDRESS!, key: KEY!, done: (id) => process.send?.(id) })
console.log('http://loading')
