//! The rows of `series.parquet`.
//!
//! A sampled column is a block of rows in which everything but times and values is constant, and
//! the columns of a subject, and mostly all subjects of a run, share their times. The pages are
//! encoded from that, a run or a block at a time, where a general encoder looks up each cell in a
//! hash table.

use super::table::{RowGroup, Rows};
use crate::results::record::recorder::RecordedRun;
use bytes::Bytes;
use goodqueue_base::units::Instant;
use goodqueue_sim::Series;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, TypePtr};
use std::fs::File;
use std::ops::Range;

/// Sampled columns that wait for their row group.
pub(super) struct SeriesRows {
    descriptions: Vec<ColumnDescPtr>,
    blocks: Vec<Block>,
    axes: Axes,
    rows: usize,
    /// The pages of the values, encoded one by one.
    values: Pages,
    facts: ValueFacts,
    compressor: Compressor,
    /// A page before it is compressed: the room of the last one is used again.
    page: Vec<u8>,
}

/// One sampled column of one run.
struct Block {
    point: u32,
    replication: u32,
    subject: String,
    name: String,
    rows: usize,
    /// The index of the part of [`Axes`] that has its times.
    axis: usize,
}

/// Different times of blocks, one after the other.
#[derive(Default)]
struct Axes {
    times: Vec<Instant>,
    parts: Vec<Range<u32>>,
}

impl Axes {
    fn place(&mut self, times: &[Instant]) -> usize {
        let known = self.parts.iter().rposition(|part| self.times[part.start as usize..part.end as usize] == *times);
        known.unwrap_or_else(|| {
            let start = self.times.len() as u32;
            self.times.extend_from_slice(times);
            self.parts.push(start..self.times.len() as u32);
            self.parts.len() - 1
        })
    }
}

/// The facts about all values that the footer states.
struct ValueFacts {
    least: f64,
    largest: f64,
    nulls: u64,
}

impl Default for ValueFacts {
    fn default() -> Self {
        Self { least: f64::INFINITY, largest: f64::NEG_INFINITY, nulls: 0 }
    }
}

impl ValueFacts {
    /// Looks at finite values.
    fn add(&mut self, values: &[f64]) {
        // Four at a time, which do not wait for each other.
        let (fours, rest) = values.as_chunks::<4>();
        let (mut least, mut largest) = ([self.least; 4], [self.largest; 4]);
        for four in fours {
            for (place, value) in four.iter().enumerate() {
                least[place] = if *value < least[place] { *value } else { least[place] };
                largest[place] = if *value > largest[place] { *value } else { largest[place] };
            }
        }
        self.least = least.iter().chain(rest).fold(self.least, |least, value| least.min(*value));
        self.largest = largest.iter().chain(rest).fold(self.largest, |largest, value| largest.max(*value));
    }
}

impl SeriesRows {
    /// None of a table with this message.
    pub(super) fn new(message: &TypePtr) -> Self {
        Self {
            descriptions: SchemaDescriptor::new(message.clone()).columns().to_vec(),
            blocks: Vec::new(),
            axes: Axes::default(),
            rows: 0,
            values: Pages::default(),
            facts: ValueFacts::default(),
            compressor: Compressor::new(),
            page: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, run: &RecordedRun<'_>, series: &Series) -> ParquetResult<()> {
        if series.times.is_empty() {
            return Ok(());
        }
        let axis = self.axes.place(&series.times);
        for column in &series.columns {
            let rows = column.values.len();
            self.add_values(&column.values)?;
            self.rows += rows;
            self.blocks.push(Block {
                point: run.point as u32,
                replication: run.replication,
                subject: series.subject.clone(),
                name: column.name.clone(),
                rows,
                axis,
            });
        }
        Ok(())
    }

    /// A page of definition levels, then values; a value that is not finite is not there.
    fn add_values(&mut self, values: &[f64]) -> ParquetResult<()> {
        let Self { page, facts, .. } = self;
        let begin = size_of::<u32>();
        page.clear();
        page.resize(begin, 0);
        // Looks at every value, and so at several at once.
        let is_whole = values.iter().fold(true, |all, value| all & value.is_finite());
        if is_whole {
            push_run(page, values.len(), 1, 1);
        } else {
            for run in runs(values) {
                push_run(page, run.len(), u32::from(run[0].is_finite()), 1);
            }
        }
        let levels_len = (page.len() - begin) as u32;
        page[..begin].copy_from_slice(&levels_len.to_le_bytes());
        if is_whole {
            facts.add(values);
            push_values(page, values);
        } else {
            for run in runs(values) {
                if run[0].is_finite() {
                    facts.add(run);
                    push_values(page, run);
                } else {
                    facts.nulls += run.len() as u64;
                }
            }
        }
        self.compressor.content_then(&self.page, values.len(), Encoding::PLAIN, |content| self.values.add(content.data_page()))
    }

    /// A column that is constant in each block.
    fn constant<T: PartialEq>(
        &mut self,
        descr: ColumnDescPtr,
        of: impl Fn(&Block) -> T,
        plain: impl Fn(&T, &mut Vec<u8>),
        statistics: impl Fn(&[T]) -> Option<Statistics>,
    ) -> ParquetResult<Chunk> {
        let mut different: Vec<T> = Vec::new();
        let mut runs: Vec<(u32, usize)> = Vec::new();
        for block in &self.blocks {
            let value = of(block);
            let number = different.iter().rposition(|known| *known == value).unwrap_or_else(|| {
                different.push(value);
                different.len() - 1
            }) as u32;
            match runs.last_mut() {
                Some((last, total)) if *last == number => *total += block.rows,
                _ => runs.push((number, block.rows)),
            }
        }
        let mut dictionary = Vec::new();
        different.iter().for_each(|value| plain(value, &mut dictionary));
        let width = index_width(different.len());
        let mut indices = vec![width];
        runs.iter().for_each(|(number, len)| push_run(&mut indices, *len, *number, width));
        let page = self.compressor.content(&indices, self.rows, Encoding::RLE_DICTIONARY)?;
        let dictionary = self.compressor.content(&dictionary, different.len(), Encoding::PLAIN)?;
        Chunk::new(descr, dictionary, page, statistics(&different))
    }

    fn times(&mut self, descr: ColumnDescPtr) -> ParquetResult<Chunk> {
        let times = &self.axes.times;
        let seconds: Vec<u8> = times.iter().flat_map(|time| time.as_secs_f64().to_le_bytes()).collect();
        let width = index_width(times.len());
        let rising = |part: &Range<u32>| {
            let mut indices = Vec::new();
            push_rising(&mut indices, part.clone(), width);
            indices
        };
        let parts: Vec<Vec<u8>> = self.axes.parts.iter().map(rising).collect();
        // One page, in which the compressor finds the times of a block in those of an earlier one.
        let mut indices = vec![width];
        self.blocks.iter().for_each(|block| indices.extend_from_slice(&parts[block.axis]));
        let page = self.compressor.content(&indices, self.rows, Encoding::RLE_DICTIONARY)?;
        let range = times.iter().min().zip(times.iter().max());
        let statistics = range
            .map(|(first, last)| Statistics::double(Some(first.as_secs_f64()), Some(last.as_secs_f64()), None, Some(0), false));
        let dictionary = self.compressor.content(&seconds, times.len(), Encoding::PLAIN)?;
        Chunk::new(descr, dictionary, page, statistics)
    }

    fn all_values(&mut self, descr: ColumnDescPtr) -> ParquetResult<Chunk> {
        let ValueFacts { least, largest, nulls } = std::mem::take(&mut self.facts);
        let finite = |value: f64| value.is_finite().then_some(value);
        let statistics = Statistics::double(finite(least), finite(largest), None, Some(nulls), false);
        std::mem::take(&mut self.values).finish(descr, Some(statistics))
    }
}

/// Parts of which either all or no values are finite.
fn runs(values: &[f64]) -> impl Iterator<Item = &[f64]> {
    values.chunk_by(|a, b| a.is_finite() == b.is_finite())
}

fn push_values(page: &mut Vec<u8>, values: &[f64]) {
    let begin = page.len();
    page.resize(begin + size_of_val(values), 0);
    for (place, value) in page[begin..].as_chunks_mut().0.iter_mut().zip(values) {
        *place = value.to_le_bytes();
    }
}

impl Rows for SeriesRows {
    fn len(&self) -> usize {
        self.rows
    }

    fn write(&mut self, writer: &mut SerializedFileWriter<File>) -> ParquetResult<()> {
        let [point, replication, subject, name, time, value] =
            <[_; 6]>::try_from(self.descriptions.clone()).expect("the message of the table declares six columns");
        let number = |value: &u32, out: &mut Vec<u8>| out.extend_from_slice(&value.to_le_bytes());
        let range = |values: &[u32]| {
            let (least, largest) = values.iter().min().zip(values.iter().max())?;
            Some(Statistics::int32(Some(*least as i32), Some(*largest as i32), None, Some(0), false))
        };
        let text = |value: &String, out: &mut Vec<u8>| {
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
            out.extend_from_slice(value.as_bytes());
        };
        let words = |values: &[String]| {
            let bytes = |text: &String| Some(ByteArray::from(text.as_str()));
            Some(Statistics::byte_array(bytes(values.iter().min()?), bytes(values.iter().max()?), None, Some(0), false))
        };
        let chunks = [
            self.constant(point, |block| block.point, number, range)?,
            self.constant(replication, |block| block.replication, number, range)?,
            self.constant(subject, |block| block.subject.clone(), text, words)?,
            self.constant(name, |block| block.name.clone(), text, words)?,
            self.times(time)?,
            self.all_values(value)?,
        ];
        let rows = self.rows as u64;
        (self.blocks, self.axes, self.rows) = (Vec::new(), Axes::default(), 0);
        let mut group = writer.next_row_group()?;
        for chunk in chunks {
            chunk.append(&mut group, rows)?;
        }
        group.close()?;
        Ok(())
    }
}

/// Encoded pages of one column of a row group.
struct Pages {
    sink: TrackedWrite<Vec<u8>>,
    plain_bytes: usize,
    /// Values of the data pages.
    values: i64,
    dictionary_at: Option<i64>,
    data_at: Option<i64>,
}

impl Default for Pages {
    fn default() -> Self {
        let sink = TrackedWrite::new(Vec::new());
        Self { sink, plain_bytes: 0, values: 0, dictionary_at: None, data_at: None }
    }
}

impl Pages {
    fn add(&mut self, page: CompressedPage) -> ParquetResult<()> {
        let is_dictionary = page.page_type() == PageType::DICTIONARY_PAGE;
        let written = SerializedPageWriter::new(&mut self.sink).write_page(page)?;
        let at = written.offset as i64;
        if is_dictionary {
            self.dictionary_at = Some(at);
        } else {
            self.data_at.get_or_insert(at);
            self.values += i64::from(written.num_values);
        }
        self.plain_bytes += written.uncompressed_size;
        Ok(())
    }

    fn finish(self, descr: ColumnDescPtr, statistics: Option<Statistics>) -> ParquetResult<Chunk> {
        let bytes = Bytes::from(self.sink.into_inner()?);
        let mut encodings = vec![Encoding::PLAIN, Encoding::RLE];
        encodings.extend(self.dictionary_at.map(|_| Encoding::RLE_DICTIONARY));
        let mut metadata = ColumnChunkMetaData::builder(descr)
            .set_encodings(encodings)
            .set_compression(Compression::SNAPPY)
            .set_num_values(self.values)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(self.plain_bytes as i64)
            .set_dictionary_page_offset(self.dictionary_at)
            .set_data_page_offset(self.data_at.unwrap_or_default());
        if let Some(statistics) = statistics {
            metadata = metadata.set_statistics(statistics);
        }
        Ok(Chunk { bytes, metadata: metadata.build()? })
    }
}

/// One column of a row group, encoded.
struct Chunk {
    bytes: Bytes,
    metadata: ColumnChunkMetaData,
}

impl Chunk {
    fn new(descr: ColumnDescPtr, dictionary: Content, page: Content, statistics: Option<Statistics>) -> ParquetResult<Self> {
        let mut pages = Pages::default();
        pages.add(dictionary.dictionary_page())?;
        pages.add(page.data_page())?;
        pages.finish(descr, statistics)
    }

    fn append(self, group: &mut RowGroup<'_>, rows: u64) -> ParquetResult<()> {
        let close = ColumnCloseResult {
            bytes_written: self.bytes.len() as u64,
            rows_written: rows,
            metadata: self.metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&self.bytes, close)
    }
}

/// The content of a page of values.
struct Content {
    compressed: Bytes,
    plain_len: usize,
    values: u32,
    encoding: Encoding,
}

impl Content {
    fn data_page(self) -> CompressedPage {
        let page = Page::DataPage {
            buf: self.compressed,
            num_values: self.values,
            encoding: self.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        CompressedPage::new(page, self.plain_len)
    }

    fn dictionary_page(self) -> CompressedPage {
        let page =
            Page::DictionaryPage { buf: self.compressed, num_values: self.values, encoding: self.encoding, is_sorted: false };
        CompressedPage::new(page, self.plain_len)
    }
}

/// Makes the contents of pages.
struct Compressor {
    encoder: snap::raw::Encoder,
    /// For what comes out, again and again.
    room: Vec<u8>,
}

impl Compressor {
    fn new() -> Self {
        Self { encoder: snap::raw::Encoder::new(), room: Vec::new() }
    }

    fn content(&mut self, plain: &[u8], values: usize, encoding: Encoding) -> ParquetResult<Content> {
        let compressed = self.encoder.compress_vec(plain).map_err(external)?.into();
        Ok(Content { compressed, plain_len: plain.len(), values: values as u32, encoding })
    }

    /// The content for `take`, which keeps nothing of it.
    fn content_then(
        &mut self,
        plain: &[u8],
        values: usize,
        encoding: Encoding,
        take: impl FnOnce(Content) -> ParquetResult<()>,
    ) -> ParquetResult<()> {
        let most = snap::raw::max_compress_len(plain.len());
        if self.room.len() < most {
            self.room.resize(most, 0);
        }
        let len = self.encoder.compress(plain, &mut self.room).map_err(external)?;
        let room = Bytes::from(std::mem::take(&mut self.room));
        let compressed = room.slice(..len);
        let taken = take(Content { compressed, plain_len: plain.len(), values: values as u32, encoding });
        // Without a copy, since nobody else has it.
        self.room = room.into();
        taken
    }
}

fn external(error: snap::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// Bits of an index into a dictionary with this number of entries.
fn index_width(entries: usize) -> u8 {
    (usize::BITS - entries.saturating_sub(1).leading_zeros()).max(1) as u8
}

/// Appends one value `len` times (Parquet's hybrid of run lengths and bit packing).
fn push_run(out: &mut Vec<u8>, len: usize, value: u32, width: u8) {
    push_varint(out, (len as u64) << 1);
    out.extend_from_slice(&value.to_le_bytes()[..usize::from(width).div_ceil(8)]);
}

/// Numbers that rise by one: bit-packed in groups of eight, then the rest as runs of one.
fn push_rising(out: &mut Vec<u8>, numbers: Range<u32>, width: u8) {
    let groups = numbers.len() / 8;
    let rest = numbers.start + 8 * groups as u32;
    if groups > 0 {
        push_varint(out, (groups as u64) << 1 | 1);
    }
    let (mut bits, mut held) = (0_u64, 0);
    for number in numbers.start..rest {
        bits |= u64::from(number) << held;
        held += u32::from(width);
        while held >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
    (rest..numbers.end).for_each(|number| push_run(out, 1, number, width));
}

fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
