//! The rows of `series.parquet`.
//!
//! A sampled column is a block of rows in which everything but times and values is constant, and
//! the columns of a subject, and mostly all subjects of a run, share their times. The pages are
//! encoded from that, a run or a block at a time, where a general encoder looks up each cell in a
//! hash table.

use super::Rows;
use crate::record::RecordedRun;
use bytes::Bytes;
use goodqueue_sim::Series;
use goodqueue_units::Instant;
use parquet::basic::{Compression, Encoding};
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
    values: ValueFacts,
    compressor: Compressor,
}

/// One sampled column of one run.
struct Block {
    point: u32,
    replication: u32,
    subject: String,
    name: String,
    rows: usize,
    /// Which part of [`Axes`] has its times.
    axis: usize,
    values: Content,
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

/// What the footer says of all values.
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

impl SeriesRows {
    /// None of a table with this message.
    pub(super) fn new(message: &TypePtr) -> Self {
        Self {
            descriptions: SchemaDescriptor::new(message.clone()).columns().to_vec(),
            blocks: Vec::new(),
            axes: Axes::default(),
            rows: 0,
            values: ValueFacts::default(),
            compressor: Compressor(snap::raw::Encoder::new()),
        }
    }

    pub(super) fn add(&mut self, run: &RecordedRun<'_>, series: &Series) -> ParquetResult<()> {
        if series.times.is_empty() {
            return Ok(());
        }
        let axis = self.axes.place(&series.times);
        for column in &series.columns {
            let (values, rows) = (self.value_page(&column.values)?, column.values.len());
            self.rows += rows;
            self.blocks.push(Block {
                point: run.point as u32,
                replication: run.replication,
                subject: series.subject.clone(),
                name: column.name.clone(),
                rows,
                axis,
                values,
            });
        }
        Ok(())
    }

    /// Definition levels, then the values; a value that is not finite is not there.
    fn value_page(&mut self, values: &[f64]) -> ParquetResult<Content> {
        let mut levels = Vec::new();
        for run in values.chunk_by(|a, b| a.is_finite() == b.is_finite()) {
            push_run(&mut levels, run.len(), u32::from(run[0].is_finite()), 1);
        }
        let mut page = Vec::with_capacity(4 + levels.len() + size_of_val(values));
        page.extend_from_slice(&(levels.len() as u32).to_le_bytes());
        page.extend_from_slice(&levels);
        let facts = &mut self.values;
        for value in values {
            if value.is_finite() {
                facts.least = facts.least.min(*value);
                facts.largest = facts.largest.max(*value);
                page.extend_from_slice(&value.to_le_bytes());
            } else {
                facts.nulls += 1;
            }
        }
        self.compressor.content(&page, values.len(), Encoding::PLAIN)
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
        Chunk::new(descr, Some(dictionary), [page], statistics(&different))
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
        Chunk::new(descr, Some(dictionary), [page], statistics)
    }

    fn all_values(&mut self, descr: ColumnDescPtr) -> ParquetResult<Chunk> {
        let ValueFacts { least, largest, nulls } = std::mem::take(&mut self.values);
        let finite = |value: f64| value.is_finite().then_some(value);
        let statistics = Statistics::double(finite(least), finite(largest), None, Some(nulls), false);
        Chunk::new(descr, None, self.blocks.iter().map(|block| block.values.clone()), Some(statistics))
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

/// One column of a row group, encoded.
struct Chunk {
    bytes: Bytes,
    metadata: ColumnChunkMetaData,
}

impl Chunk {
    fn new(
        descr: ColumnDescPtr,
        dictionary: Option<Content>,
        pages: impl IntoIterator<Item = Content>,
        statistics: Option<Statistics>,
    ) -> ParquetResult<Self> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let mut encodings = vec![Encoding::PLAIN, Encoding::RLE];
        let (mut plain_bytes, mut values) = (0, 0);
        let mut dictionary_at = None;
        if let Some(page) = dictionary {
            encodings.push(Encoding::RLE_DICTIONARY);
            let written = writer.write_page(page.dictionary_page())?;
            dictionary_at = Some(written.offset as i64);
            plain_bytes += written.uncompressed_size;
        }
        let mut data_at = None;
        for page in pages {
            let written = writer.write_page(page.data_page())?;
            data_at.get_or_insert(written.offset as i64);
            plain_bytes += written.uncompressed_size;
            values += i64::from(written.num_values);
        }
        let bytes = Bytes::from(sink.into_inner()?);
        let mut metadata = ColumnChunkMetaData::builder(descr)
            .set_encodings(encodings)
            .set_compression(Compression::SNAPPY)
            .set_num_values(values)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(plain_bytes as i64)
            .set_dictionary_page_offset(dictionary_at)
            .set_data_page_offset(data_at.unwrap_or_default());
        if let Some(statistics) = statistics {
            metadata = metadata.set_statistics(statistics);
        }
        Ok(Self { bytes, metadata: metadata.build()? })
    }

    fn append(self, group: &mut super::RowGroup<'_>, rows: u64) -> ParquetResult<()> {
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
#[derive(Clone)]
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
struct Compressor(snap::raw::Encoder);

impl Compressor {
    fn content(&mut self, plain: &[u8], values: usize, encoding: Encoding) -> ParquetResult<Content> {
        let compressed = self.0.compress_vec(plain).map_err(|error| ParquetError::External(Box::new(error)))?.into();
        Ok(Content { compressed, plain_len: plain.len(), values: values as u32, encoding })
    }
}

/// Bits of an index into a dictionary with so many entries.
fn index_width(entries: usize) -> u8 {
    (usize::BITS - entries.saturating_sub(1).leading_zeros()).max(1) as u8
}

/// The same value `len` times (Parquet's hybrid of run lengths and bit packing).
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
