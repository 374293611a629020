/** Bytes as text of one character a byte, which regular expressions and base64 work on. */
export type Binary = string

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

export const binaryOf = (bytes: Uint8Array): Binary => {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return binary
}

export const bytesOf = (binary: Binary): Uint8Array => {
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}
