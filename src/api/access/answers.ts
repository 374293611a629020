import { emptyResponse } from '../empty-response.js'

/** For answers that carry a key: no cache on the way may keep it. */
export const neverStored = { 'Cache-Control': 'no-store' }

/** Nothing to say but that it is so. */
export const done = { ...emptyResponse }
