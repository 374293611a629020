import { certifyingItself, type Certified } from './certificates.js'

export type { Certified }

/** A key and a certificate for 127.0.0.1 that is its own authority, for an hour from now. */
export const selfSigned = (): Certified => certifyingItself({ hosts: ['127.0.0.1'] })
