import { TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useKeys } from './keys.js'
import { onSubmit } from './on-submit.js'
import { useAddress } from './place.js'

/** The text search of a list, in the address as `q`. */
export const SearchBox = ({ label }: { readonly label: string }) => {
  const [{ q = '' }, setAddress] = useAddress()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  useKeys({ '/': () => input.current?.focus() })
  const search = () => {
    if (text.trim() !== q) setAddress({ q: text.trim() })
  }
  return (
    <form onSubmit={onSubmit(search)}>
      <TextInput
        ref={input}
        size="xs"
        aria-label={label}
        placeholder="Search"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={search}
        w={180}
      />
    </form>
  )
}
