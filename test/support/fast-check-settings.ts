import fc from 'fast-check'
import { isFull } from '../counts.js'

// Reports of parallel workers keep an error's message and lose its cause.
fc.configureGlobal({ includeErrorInReport: true, ...(isFull ? {} : { seed: 1 }) })
